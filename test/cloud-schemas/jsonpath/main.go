// Reads a JSON array of {expression, object} on standard input and writes what each expression comes to, as {error} or
// {found}: whether it selects something in the object. The parser is that of Pulumi's Kubernetes provider, and what
// surrounds it is taken from the provider's pkg/jsonpath/jsonpath.go.
package main

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"

	"github.com/theory/jsonpath"
)

type question struct {
	Expression string `json:"expression"`
	Object     any    `json:"object"`
}

type answer struct {
	Error string `json:"error,omitempty"`
	Found bool   `json:"found"`
}

var braces = regexp.MustCompile(`\{\s*(.*?)\s*\}`)

func answerTo(q question) answer {
	text := strings.TrimPrefix(q.Expression, "jsonpath=")
	matches := braces.FindStringSubmatch(text)
	if len(matches) != 2 {
		return answer{Error: text + " should be wrapped in brackets { ... }"}
	}
	path := matches[1]
	if !strings.HasPrefix(path, "$") {
		path = "$" + path
	}
	parsed, err := jsonpath.NewParser().Parse(path)
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{Found: len(parsed.Select(q.Object)) > 0}
}

func main() {
	var questions []question
	if err := json.NewDecoder(os.Stdin).Decode(&questions); err != nil {
		panic(err)
	}
	answers := make([]answer, 0, len(questions))
	for _, q := range questions {
		answers = append(answers, answerTo(q))
	}
	if err := json.NewEncoder(os.Stdout).Encode(answers); err != nil {
		panic(err)
	}
}
