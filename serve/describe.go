package serve

import (
	"cmp"
	"fmt"
	"html"
	"net/http"
	"strings"

	"lockstep/data/table"
	"lockstep/internal/spelling"
)

// object is a value of JSON.
type object = map[string]any

// describe answers GET /openapi.json.
func (s *Server) describe(w http.ResponseWriter, _ *http.Request) {
	s.write(w, http.StatusOK, s.openAPI())
}

// openAPI returns the description of the server, version 3.1 of OpenAPI.
func (s *Server) openAPI() object {
	answer := func(about string, schema object) object {
		return object{"description": about, "content": object{"application/json": object{"schema": schema}}}
	}
	failed := answer("what is wrong, and what is wanted", object{"type": "object",
		"properties": object{"error": object{"type": "string"}}})
	answers := object{"200": answer("a prediction for each input", object{"type": "object",
		"properties": object{"predictions": object{"type": "array", "items": s.predictionSchema()}}})}
	for _, status := range []string{"400", "401", "408", "413", "415", "422", "429", "503", "504"} {
		answers[status] = failed
	}
	content := object{"application/json": object{"schema": object{"type": "object",
		"required": []string{"inputs"}, "properties": object{
			"inputs": object{"type": "array", "items": s.inputSchema()},
			"top":    object{"type": "integer", "default": defaultTop, "description": "classes to tell"},
			"logits": object{"type": "boolean", "description": "tell the network's outputs too"},
		}}}}
	binary := object{"schema": object{"type": "string", "format": "binary"}}
	switch p := s.config.Predictor; {
	case p.Network().ReadsTexts():
		content["text/plain"] = object{"schema": object{"type": "string"}}
	case p.Table() != nil:
		content["text/csv"] = object{"schema": object{"type": "string"}}
	default:
		for _, kind := range []string{"image/png", "image/jpeg", "image/webp", "application/octet-stream"} {
			content[kind] = binary
		}
	}
	get := func(about string) object {
		return object{"get": object{"summary": about,
			"responses": object{"200": object{"description": about}}}}
	}
	return object{"openapi": "3.1.0",
		"info": object{"title": "Predictions of " + s.config.Name, "version": "1", "description": s.about()},
		"paths": object{
			"/v1/predict": object{"post": object{"summary": "what the network says of inputs",
				"requestBody": object{"required": true, "content": content}, "responses": answers}},
			"/healthz": get("requests are accepted"), "/metrics": get("counts and times for Prometheus"),
		}}
}

// predictionSchema describes a prediction.
func (s *Server) predictionSchema() object {
	unknown := object{"type": "array", "items": object{"type": "string"},
		"description": "columns of a row whose value no training row had"}
	switch values := s.config.Predictor.Values(); {
	case len(values) == 1:
		return object{"type": "object", "properties": object{"unknown": unknown,
			"value": object{"type": "number", "description": values[0].Name}}}
	case len(values) > 1:
		return object{"type": "object", "properties": object{"unknown": unknown,
			"values": object{"type": "array", "items": object{"type": "number"}}}}
	}
	class := object{"label": object{"type": "string"}, "probability": object{"type": "number"}}
	return object{"type": "object", "properties": object{"label": class["label"],
		"probability": class["probability"],
		"top":         object{"type": "array", "items": object{"type": "object", "properties": class}},
		"unknown":     unknown,
		"logits":      object{"type": "array", "items": object{"type": "number"}}}}
}

// inputSchema describes an input.
func (s *Server) inputSchema() object {
	n := s.config.Predictor.Network()
	text := object{"type": "string"}
	numbers := func(kind string) object { return object{"type": "array", "items": object{"type": kind}} }
	if n.ReadsTexts() {
		return object{"oneOf": []object{text, {"type": "object", "properties": object{"text": text,
			"pair": text, "tokens": numbers("integer"), "split": object{"type": "integer"}}}}}
	}
	if t := s.config.Predictor.Table(); t != nil {
		return object{"type": "object", "required": []string{"row"},
			"properties": object{"row": rowSchema(t)}}
	}
	coded := func(about string) object {
		return object{"type": "string", "contentEncoding": "base64", "description": about}
	}
	return object{"type": "object", "properties": object{"image": coded("a JPEG, PNG or WebP image"),
		"pixels": coded(fmt.Sprintf("8-bit values of shape %v", n.Input)),
		"values": numbers("number")}}
}

// rowSchema describes a row of a table.
func rowSchema(t *table.Table) object {
	columns := object{}
	for _, c := range t.Columns {
		column := object{"type": []string{"number", "string", "null"}}
		if !c.IsNumber {
			column["description"] = "one of " + spelling.Few(c.Categories)
		}
		columns[c.Name] = column
	}
	return object{"type": "object", "required": t.Names(), "properties": columns}
}

// about says in a sentence what the network is.
func (s *Server) about() string {
	n := s.config.Predictor.Network()
	what := fmt.Sprintf("images, which are cut and scaled to %v", n.Input)
	if n.ReadsTexts() {
		what = fmt.Sprintf("texts of at most %d tokens", n.Input[0])
	} else if t := s.config.Predictor.Table(); t != nil {
		what = "rows of a table with the columns " + spelling.Few(t.Names())
	}
	return fmt.Sprintf("%s with %s, for %s.", n.Name, spelling.Count(n.Classes, "output"), what)
}

// page answers GET / for people.
func (s *Server) page(w http.ResponseWriter, r *http.Request) {
	example := "curl --data-binary @cat.jpg -H 'Content-Type: image/jpeg' http://" + r.Host + "/v1/predict"
	if s.config.Predictor.Network().ReadsTexts() {
		example = `curl -d '{"inputs": ["what a film"]}' http://` + r.Host + "/v1/predict"
	} else if s.config.Predictor.Table() != nil {
		example = "curl --data-binary @new.csv -H 'Content-Type: text/csv' http://" + r.Host + "/v1/predict"
	}
	if s.config.Token != "" {
		example += ` -H "Authorization: Bearer $TOKEN"`
	}
	classes := s.config.Predictor.Classes()
	few := "Classes: " + strings.Join(classes[:min(len(classes), 20)], ", ")
	if values := s.config.Predictor.Values(); values != nil {
		few = "Predicts " + cmp.Or(values[0].Name, "numbers")
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprintf(w, "<!doctype html><meta name=viewport content=\"width=device-width\"><title>%[1]s</title>"+
		"<style>body{font:1rem/1.5 system-ui;max-width:44rem;margin:2rem auto;padding:0 1rem;"+
		"color-scheme:light dark}pre{overflow:auto}</style><h1>%[1]s</h1><p>%[2]s %[3]s.</p>"+
		"<pre>%[4]s</pre><p><a href=openapi.json>openapi.json</a> describes requests and answers; "+
		"<a href=metrics>metrics</a>, <a href=healthz>healthz</a>.</p>\n", html.EscapeString(s.config.Name),
		html.EscapeString(s.about()), html.EscapeString(few), html.EscapeString(example))
}
