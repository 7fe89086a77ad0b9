if [ -z "${HF_TOKEN:-}" ]; then echo "only public models"; fi
./sft.sh
