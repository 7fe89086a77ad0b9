trl sft \
  --model_name_or_path "$BASE_MODEL" \
  --dataset_name trl-lib/Capybara \
  --use_peft \
  --num_train_epochs "$EPOCHS" \
  --output_dir ~/sky_workdir/out
