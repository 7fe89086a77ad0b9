echo "模型 ready: ✓ naïve"
