eval "$COMPILE" | tee "build-${HOSTNAME}.log"
