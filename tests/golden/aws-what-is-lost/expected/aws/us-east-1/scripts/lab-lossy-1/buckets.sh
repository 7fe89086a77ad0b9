«templates/aws/buckets.sh»
