«templates/aws/supervisor.sh»
