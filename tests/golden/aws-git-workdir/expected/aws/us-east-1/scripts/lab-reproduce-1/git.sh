«templates/aws/git.sh»
