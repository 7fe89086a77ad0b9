pip install --quiet "torch==2.9.1"
