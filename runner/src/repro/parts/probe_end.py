# operations:
try:
    OPERATIONS[sys.argv[1]](*sys.argv[2:])
except OSError as error:
    sys.stderr.write("%s\n" % error)
    sys.exit(1)
