cat > gateway.py <<PY
import sys
expected = "$AUTH"
pattern = r"^Bearer \\$expected\$"
print(f'{expected!r} \`literal\` "quoted" {pattern}', file=sys.stderr)
PY
python gateway.py
