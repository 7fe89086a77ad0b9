«templates/aws/idle.sh»
