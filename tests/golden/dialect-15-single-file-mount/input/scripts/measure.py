print("1 GB/s")
