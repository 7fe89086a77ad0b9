«templates/aws/platform.sh»
