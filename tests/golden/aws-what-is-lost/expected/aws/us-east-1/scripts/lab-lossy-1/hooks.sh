«templates/aws/hooks.sh»
