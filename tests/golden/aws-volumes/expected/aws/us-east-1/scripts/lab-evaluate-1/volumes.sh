«templates/aws/volumes.sh»
