# Whether a file matches a regular expression, which a shell has none for.
matches() {
    python3 -c 'import re, sys
text = open(sys.argv[1], "rb").read().decode(errors="replace")
sys.exit(not re.search(sys.argv[2], text, re.ASCII))' "$1" "$2"
}
