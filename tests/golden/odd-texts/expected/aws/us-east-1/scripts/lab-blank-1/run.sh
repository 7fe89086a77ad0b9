  echo indented

	echo tab  


