«templates/common/bashrc.sh»
