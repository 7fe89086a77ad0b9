«templates/aws/enter.sh»
