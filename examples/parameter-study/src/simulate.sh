# simulate.sh VISCOSITY,SPEED: stands in for a model that takes its time.
IFS=, read -r viscosity speed <<<"$1"
number=$(awk -v v="$viscosity" -v s="$speed" 'BEGIN { printf "%.0f", s / v }')
printf 'viscosity %s, speed %s: Reynolds number %s\n' "$viscosity" "$speed" "$number"
