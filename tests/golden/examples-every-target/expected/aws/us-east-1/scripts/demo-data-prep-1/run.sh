set -e
seq 1 1000 >numbers.txt
bash ~/tools/shard.sh numbers.txt "$SHARDS"
ls shards | wc -l
