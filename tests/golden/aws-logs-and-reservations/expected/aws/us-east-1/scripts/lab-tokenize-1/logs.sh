«templates/aws/logs.sh»
