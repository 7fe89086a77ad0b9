«templates/common/launcher.sh»
