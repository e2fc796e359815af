package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"time"
	"unicode/utf8"

	"lockstep/data"
	"lockstep/data/table"
	"lockstep/infer"
	"lockstep/internal/spelling"
)

// asked is the JSON of a request.
type asked struct {
	Inputs list `json:"inputs"`
	Top    int  `json:"top"`
	Logits bool `json:"logits"`
}

// list is inputs in JSON, which are read until there are more than most.
type list struct {
	most int
	all  []given
}

// UnmarshalJSON takes an array.
func (l *list) UnmarshalJSON(text []byte) error {
	if text[0] != '[' {
		return json.Unmarshal(text, &l.all) // says what it is; null is none
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if _, err := d.Token(); err != nil {
		return err
	}
	for l.all = nil; d.More(); {
		if len(l.all) == l.most {
			return tooMany(l.most)
		}
		var g given
		if err := d.Decode(&g); err != nil {
			return err
		}
		l.all = append(l.all, g)
	}
	return nil
}

// tooMany is the error of a request with more inputs than may wait.
func tooMany(most int) error {
	return &statusError{http.StatusRequestEntityTooLarge, fmt.Sprintf(
		"more than %s in one request, the most that is taken", spelling.Count(most, "input"))}
}

// given is one input in JSON: a string is a text, or an image in base64.
type given struct {
	Image  []byte    `json:"image"`  // JPEG, PNG or WebP, in base64
	Pixels []byte    `json:"pixels"` // [H, W, C], in base64
	Values []float32 `json:"values"` // normalised
	Text   *string   `json:"text"`
	Pair   *string   `json:"pair"`
	Tokens []int32   `json:"tokens"`
	Split  int       `json:"split"`

	Row fields `json:"row"` // of a table, by the names of columns
}

// fields is a row in JSON, by the names of columns: numbers, texts, truths and null.
type fields map[string]any

// maxFields bounds the names in a row.
const maxFields = 1024

// UnmarshalJSON takes an object of plain values.
func (f *fields) UnmarshalJSON(text []byte) error {
	if text[0] != '{' {
		var none map[string]any
		return json.Unmarshal(text, &none) // says what it is; null is none
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if _, err := d.Token(); err != nil {
		return err
	}
	*f = fields{}
	for n := 0; d.More(); n++ {
		if n == maxFields {
			return fmt.Errorf("a row of more than %d columns", maxFields)
		}
		name, err := d.Token()
		if err != nil {
			return err
		}
		value, err := d.Token()
		if err != nil {
			return err
		}
		if _, isNested := value.(json.Delim); isNested {
			return &table.ValueError{Column: name.(string),
				Reason: "a list or an object, want a number, a text or null"}
		}
		(*f)[name.(string)] = value
	}
	return nil
}

// UnmarshalJSON takes a string as {"text": ...} and refuses names that mean nothing.
func (g *given) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		return json.Unmarshal(text, &g.Text)
	}
	type plain given
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	d.UseNumber()
	return d.Decode((*plain)(g))
}

// prediction is the JSON of an answer, by input.
type prediction struct {
	infer.Answer
	Unknown []string  `json:"unknown,omitempty"` // columns whose value training rows had not
	Logits  []float32 `json:"logits,omitempty"`
}

// defaultTop is how many classes are told of each input.
const defaultTop = 3

// statusLeft counts requests whose client leaves before it has its answer, as other servers do.
const statusLeft = 499

// predict answers POST /v1/predict.
func (s *Server) predict(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	told, err := s.told(w, r)
	switch {
	case err == nil:
		s.meter.request(http.StatusOK, time.Since(began))
		s.write(w, http.StatusOK, map[string]any{"predictions": told})
	case r.Context().Err() != nil && !errors.Is(err, os.ErrDeadlineExceeded):
		s.meter.request(statusLeft, time.Since(began)) // nobody hears it
	default:
		s.meter.request(statusOf(err), time.Since(began))
		s.refuse(w, err)
	}
}

// told reads a request and computes its predictions.
func (s *Server) told(w http.ResponseWriter, r *http.Request) ([]prediction, error) {
	ctx, cancel := context.WithTimeout(r.Context(), s.config.Deadline)
	defer cancel()
	most := s.config.MaxBody
	if r.ContentLength > most {
		return nil, &http.MaxBytesError{Limit: most}
	}
	in := &body{ReadCloser: http.MaxBytesReader(w, r.Body, most), most: most, all: &s.bodies}
	defer in.leave()
	r.Body = in
	job := s.buffers.Get().(*work)
	defer s.buffers.Put(job)
	defer s.release(job)
	q, err := s.read(ctx, r, job)
	if err != nil {
		in.leave()
		_, _ = io.Copy(io.Discard, in.ReadCloser) // who is refused hears it when all is sent
		return nil, err
	}
	return s.compute(ctx, q, job)
}

// compute computes the predictions of job's inputs.
func (s *Server) compute(ctx context.Context, q asked, job *work) (list []prediction, err error) {
	p := s.config.Predictor
	if job.logits, err = p.Predict(ctx, job.inputs, job.logits[:0]); err != nil {
		return nil, err
	}
	s.meter.inputs.Add(int64(len(job.inputs)))
	list = make([]prediction, len(job.inputs))
	outputs := p.Network().Classes
	for i := range list {
		row := job.logits[i*outputs:][:outputs]
		list[i].Answer = p.Answer(row, q.Top)
		if job.inputs[i].Row != nil {
			list[i].Unknown = p.Table().Unknown(job.inputs[i].Row)
		}
		if q.Logits {
			list[i].Logits = append(list[i].Logits, row...)
		}
	}
	return list, nil
}

// admit counts n inputs of job among those that wait, until release; or it says that there are too many.
func (s *Server) admit(job *work, n int) error {
	most := int64(s.config.MaxWaiting)
	if now := s.waiting.Add(int64(n)); now > most {
		s.waiting.Add(-int64(n))
		return &statusError{http.StatusTooManyRequests, fmt.Sprintf(
			"%d inputs wait already, of at most %d; try again", now-int64(n), most)}
	}
	job.admitted = n
	return nil
}

// release forgets the inputs of a job.
func (s *Server) release(job *work) {
	s.waiting.Add(-int64(job.admitted))
	clear(job.inputs)
	job.inputs, job.admitted = job.inputs[:0], 0
}

// read reads the inputs of a body, which is bounded, into job. They are admitted when they have come, so that
// slow clients keep nobody out, and before images are decoded, which take more.
func (s *Server) read(ctx context.Context, r *http.Request, job *work) (q asked, err error) {
	q.Top = defaultTop
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		kind = "application/json" // of those who say nothing
	}
	var came bytes.Buffer
	if _, err := came.ReadFrom(r.Body); err != nil {
		return q, err
	}
	text := came.Bytes()
	switch kind {
	case "application/json", "application/x-www-form-urlencoded": // what curl --data says
		return q, s.readJSON(ctx, text, &q, job)
	case "text/csv":
		return q, s.readRows(ctx, text, job)
	}
	if err := s.admit(job, 1); err != nil {
		return q, err
	}
	var in infer.Input
	switch kind {
	case "image/png", "image/jpeg", "image/webp":
		in.Pixels, err = s.decode(ctx, text)
	case "text/plain":
		if in.Text = string(text); in.Text == "" || !utf8.ValidString(in.Text) {
			err = errors.New("no text: the body is empty or not UTF-8")
		}
	case "application/octet-stream":
		in.Pixels = text
	default:
		return q, &statusError{http.StatusUnsupportedMediaType, fmt.Sprintf("a body of type %.60q, want "+
			"application/json, image/png, image/jpeg, image/webp, text/plain, text/csv, or pixels as "+
			"application/octet-stream", kind)}
	}
	job.inputs = append(job.inputs, in)
	return q, err
}

// readJSON is read for JSON.
func (s *Server) readJSON(ctx context.Context, text []byte, q *asked, job *work) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	q.Inputs.most = s.config.MaxWaiting
	wrong, many := (*json.UnmarshalTypeError)(nil), (*statusError)(nil)
	if err := d.Decode(q); errors.As(err, &many) {
		return many
	} else if errors.As(err, &wrong) {
		return fmt.Errorf(`want %s, see /openapi.json: got %s at %q`, s.shape(), wrong.Value, wrong.Field)
	} else if err != nil {
		return fmt.Errorf(`want %s, see /openapi.json: %w`, s.shape(), err)
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("more behind the JSON object")
	}
	if len(q.Inputs.all) == 0 || q.Top < 1 {
		return fmt.Errorf(`%d inputs, the top %d classes; want at least 1 of both`, len(q.Inputs.all), q.Top)
	}
	if err := s.admit(job, len(q.Inputs.all)); err != nil {
		return err
	}
	for i, g := range q.Inputs.all {
		in := infer.Input{Pixels: g.Pixels, Values: g.Values, Tokens: g.Tokens, Split: g.Split,
			IsPair: g.Pair != nil}
		if g.Text != nil {
			in.Text = *g.Text
		}
		if g.Pair != nil {
			in.Pair = *g.Pair
		}
		if g.Row != nil {
			var err error
			if in.Row, err = s.row(g.Row); err != nil {
				return fmt.Errorf("input %d: %w", i+1, err)
			}
		}
		if g.Image != nil {
			var err error
			if in.Pixels, err = s.decode(ctx, g.Image); err != nil {
				return fmt.Errorf("input %d: %w", i+1, err)
			}
		}
		isImage := in.Pixels != nil || in.Values != nil
		if s.config.Predictor.Network().ReadsTexts() && g.Text == nil && g.Tokens == nil && !isImage {
			return fmt.Errorf("input %d: no text", i+1)
		}
		job.inputs = append(job.inputs, in)
	}
	return nil
}

// shape says what a body of JSON looks like and, of rows, how to send a table.
func (s *Server) shape() string {
	t := s.config.Predictor.Table()
	if t == nil {
		return `{"inputs": [...]}, or one input with its Content-Type, such as image/png or text/plain`
	}
	return fmt.Sprintf(`{"inputs": [{"row": {%q: ...}}]}, or a CSV with the header Content-Type: text/csv`,
		t.Names()[0])
}

// row returns the fields of a row.
func (s *Server) row(values map[string]any) ([]string, error) {
	t := s.config.Predictor.Table()
	if t == nil {
		return nil, errors.New("a row of a table, but the network reads none")
	}
	return t.Row(values)
}

// readRows is read for the CSV of a table with a header.
func (s *Server) readRows(ctx context.Context, text []byte, job *work) error {
	t := s.config.Predictor.Table()
	if t == nil {
		return errors.New("rows of a table, but the network reads none")
	}
	rows, err := data.ReadRows(ctx, bytes.NewReader(text), "the body")
	if err != nil {
		return err
	}
	if _, err := rows.In(t); err != nil {
		return err
	}
	for {
		row, _, err := rows.Next()
		if err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		if len(job.inputs) == s.config.MaxWaiting {
			return tooMany(s.config.MaxWaiting)
		}
		job.inputs = append(job.inputs, infer.Input{Row: row})
	}
	if len(job.inputs) == 0 {
		return errors.New("no row behind the header")
	}
	return s.admit(job, len(job.inputs))
}

// decode decodes a JPEG, PNG or WebP image, when it is its turn.
func (s *Server) decode(ctx context.Context, file []byte) ([]byte, error) {
	switch p := s.config.Predictor; {
	case p.Network().ReadsTexts():
		return nil, errors.New("an image, want a text")
	case p.Table() != nil:
		return nil, errors.New("an image, want a row of a table")
	}
	width, height, err := data.ImageSize("the image", bytes.NewReader(file))
	if err != nil {
		return nil, errors.New("neither a JPEG nor a PNG nor a WebP image, or damaged")
	}
	if width < 1 || height < 1 || width > s.config.MaxPixels/height {
		return nil, &statusError{http.StatusRequestEntityTooLarge, fmt.Sprintf(
			"an image of %dx%d pixels, want at most %d", width, height, s.config.MaxPixels)}
	}
	select {
	case s.decoding <- struct{}{}:
		defer func() { <-s.decoding }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return s.config.Images.Image("the image", bytes.NewReader(file))
}
