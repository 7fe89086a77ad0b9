cat <<'EOF' >config.yaml
{{ jinja }}: {% block %}
TRIPLANE_0
EOF