pip install --quiet "trl==0.24.0" "peft==0.17.1"
