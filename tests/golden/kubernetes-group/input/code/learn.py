print("learns")
