«templates/aws/node.sh»
