module lakehead.test/jsonpath

go 1.23

require github.com/theory/jsonpath v0.9.0
