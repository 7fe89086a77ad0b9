. ~/venv/bin/activate
trl sft --config /tmp/lora/settings.json \
  --model_name_or_path "$BASE_MODEL" \
  --dataset_name ~/data \
  --output_dir ~/sky_workdir/adapter
