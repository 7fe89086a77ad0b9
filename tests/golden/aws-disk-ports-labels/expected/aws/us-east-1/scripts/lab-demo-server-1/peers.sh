«templates/aws/peers.sh»
