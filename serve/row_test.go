package serve_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"lockstep/data/table"
	"lockstep/graph"
	"lockstep/infer"
	"lockstep/model"
	"lockstep/serve"
	"lockstep/tensor"
)

// Rows come by the names of columns or as CSV, with the same answer; what is wrong with one is named.
func TestRows(t *testing.T) {
	columns := &table.Table{Label: "saved", Columns: []table.Column{
		{Name: "age", IsNumber: true, Mean: 20, Std: 10, IsMarked: true},
		{Name: "port", Categories: []string{"C", "S"}}}}
	n, err := model.Named("mlp", 3, tensor.Shape{1, 1, 4})
	if err != nil {
		t.Fatal(err)
	}
	mean, std := columns.Scale()
	p, err := infer.New(infer.Config{Network: n, Table: columns, Mean: mean, Std: std,
		Load: func(v *graph.Variables) error { v.Initialize(1); return nil }})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	h := httptest.NewServer(serve.New(serve.Config{Predictor: p, Name: "rows"}))
	defer h.Close()
	post := func(kind, body string) (int, string) {
		r, err := http.Post(h.URL+"/v1/predict", kind, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		return r.StatusCode, string(text)
	}
	type prediction struct {
		Probability float64
		Unknown     []string
	}
	var byName, byCSV struct{ Predictions []prediction }
	_, text := post("application/json",
		`{"inputs":[{"row":{"port":"S","age":3e1}},{"row":{"age":null,"port":"Q"}}]}`)
	if err := json.Unmarshal([]byte(text), &byName); err != nil || len(byName.Predictions) != 2 ||
		len(byName.Predictions[1].Unknown) != 1 || byName.Predictions[0].Unknown != nil {
		t.Fatalf("%s: %v", text, err)
	}
	_, text = post("text/csv", "id,port,age\n1,S,30\n2,Q,\n")
	if err := json.Unmarshal([]byte(text), &byCSV); err != nil || len(byCSV.Predictions) != 2 ||
		byCSV.Predictions[0].Probability != byName.Predictions[0].Probability ||
		byCSV.Predictions[1].Probability != byName.Predictions[1].Probability {
		t.Errorf("%s, want %v", text, byName)
	}
	for body, want := range map[string]string{
		`{"inputs":[{"row":{"port":"S"}}]}`:                      `no \"age\"; give null`,
		`{"inputs":[{"row":{"port":"S","age":"old"}}]}`:          `input 1: column \"age\": \"old\", want`,
		`{"inputs":[{"row":{"port":"S","age":1,"sex":"m"}}]}`:    `\"sex\" is no column, want age, port`,
		`{"inputs":[{"row":{"port":"S","age":[1]}}]}`:            `column \"age\": a list or an object`,
		`{"port":"S","age":1}`:                                   `want {\"inputs\": [{\"row\": {\"age\": `,
		"port,age\nS,1\n":                                        "with the header Content-Type: text/csv",
		`{"inputs":["hello"]}`:                                   "no row of a table",
		`{"inputs":[{"row":{"port":"S","age":1},"text":"and"}]}`: "another input beside it",
	} {
		if status, text := post("application/json", body); status != http.StatusBadRequest ||
			!strings.Contains(text, want) {
			t.Errorf("%s: status %d, %s", body, status, text)
		}
	}
	if status, text := post("text/csv", "port\nS\n"); status != http.StatusBadRequest ||
		!strings.Contains(text, "no column age") {
		t.Errorf("status %d, %s", status, text)
	}
	many := `{"inputs":[{"row":{` + strings.Repeat(`"age":1,`, 1024) + `"port":"S"}}]}`
	if status, text := post("application/json", many); status != 400 ||
		!strings.Contains(text, "more than 1024 columns") {
		t.Errorf("1,025 fields: status %d, %s", status, text)
	}
	if status, text := post("text/csv", "port,age\n"+strings.Repeat("S,1\n", 257)); status != 413 {
		t.Errorf("257 rows: status %d, %s", status, text)
	}
	if _, text := post("text/csv", "port,age\nS,1\nS,x\n"); !strings.Contains(text, "line 3: column") {
		t.Error(text)
	}
}
