package cluster

import (
	"bytes"
	"encoding/json"
	"net"
	"reflect"
	"strings"
	"testing"
	"time"
)

// Whatever the application puts into a message arrives: of each kind one has a quarter of a megabyte in every
// field that has no size of its own. No line is too long, and texts that are cut say so.
func TestMessagesOfAnySizeArrive(t *testing.T) {
	kinds := reflect.TypeFor[message]()
	for i := range kinds.NumField() {
		field := kinds.Field(i)
		if field.Name == "Piece" || field.Name == "IsCut" {
			continue // how the others travel
		}
		t.Run(field.Name, func(t *testing.T) {
			var m message
			inflate(reflect.ValueOf(&m).Elem().Field(i))
			near, far := net.Pipe()
			defer near.Close()
			sender, receiver := newLine(near), newLine(far)
			sent := make(chan error, 1)
			go func() { sent <- sender.send(m) }()
			got, err := receiver.receive()
			if failed := <-sent; err != nil || failed != nil {
				t.Fatalf("sent: %v, received: %v", failed, err)
			}
			want, text := new(bytes.Buffer), new(bytes.Buffer)
			json.NewEncoder(want).Encode(m.bounded())
			json.NewEncoder(text).Encode(got)
			if !bytes.Equal(text.Bytes(), want.Bytes()) {
				t.Errorf("%d bytes arrived of %d, and they differ", text.Len(), want.Len())
			}
			isText := m.Failure != nil || m.Refused != "" || m.Progress != nil || m.Verdict != nil
			if isText && !strings.Contains(text.String(), "bytes more)") {
				t.Error("nothing says that the text is cut")
			}
			if m.Progress != nil && text.Len() >= maxLine {
				t.Errorf("a beat of %d bytes has several lines", text.Len())
			}
		})
	}
}

// inflate fills what is in v.
func inflate(v reflect.Value) {
	const size = 256 << 10
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		inflate(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				inflate(v.Field(i))
			}
		}
	case reflect.String:
		v.SetString(strings.Repeat("0123456789abcdef", size/16))
	case reflect.Slice:
		switch v.Type() {
		case reflect.TypeFor[json.RawMessage]():
			v.SetBytes([]byte(`"` + strings.Repeat("x", size) + `"`))
		case reflect.TypeFor[[]byte]():
			v.SetBytes(bytes.Repeat([]byte{7}, size))
		default:
			v.Set(reflect.MakeSlice(v.Type(), 4, 4))
			for i := range v.Len() {
				inflate(v.Index(i))
			}
		}
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(1)
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint32, reflect.Uint64:
		v.SetUint(1)
	default:
		panic(v.Type())
	}
}

// A beat passes between the pieces of a long message.
func TestBeatsPassLongMessages(t *testing.T) {
	near, far := net.Pipe()
	defer near.Close()
	sender, receiver := newLine(near), newLine(far)
	long := json.RawMessage(`"` + strings.Repeat("x", 4<<20) + `"`)
	go sender.send(message{Result: long})
	time.Sleep(10 * time.Millisecond) // a pipe holds nothing: the first piece waits
	go sender.send(message{Progress: &Progress{Step: 3}})
	first, err := receiver.receive()
	if err != nil || first.Progress == nil || first.Progress.Step != 3 {
		t.Fatalf("first came %+v, %v", first.Progress, err)
	}
	if second, err := receiver.receive(); err != nil || !bytes.Equal(second.Result, long) {
		t.Errorf("then came %d bytes, %v", len(second.Result), err)
	}
}

// Who is not known to belong to the run has one line.
func TestAHelloIsOneLine(t *testing.T) {
	near, far := net.Pipe()
	defer near.Close()
	go newLine(near).send(message{Result: json.RawMessage(`"` + strings.Repeat("x", maxLine) + `"`)})
	if _, err := (&coordinator{world: 2}).greet(newLine(far), false); err == nil {
		t.Error("pieces were taken for a hello")
	}
	far.Close()
}
