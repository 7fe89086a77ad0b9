print("evaluated")
