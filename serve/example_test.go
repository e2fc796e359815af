package serve_test

import (
	"fmt"
	"log"
	"net/http/httptest"
	"strings"

	"lockstep/data"
	"lockstep/graph"
	"lockstep/infer"
	"lockstep/model"
	"lockstep/serve"
	"lockstep/tensor"
)

func ExampleNew() {
	network, err := model.Named("lenet", 10, tensor.Shape{32, 32, 3})
	if err != nil {
		log.Fatal(err)
	}
	p, err := infer.New(infer.Config{Network: network, Mean: []float32{0.5, 0.5, 0.5},
		Std: []float32{1, 1, 1}, Load: func(v *graph.Variables) error {
			v.Initialize(1) // or checkpoint.Load
			return nil
		}})
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	s := serve.New(serve.Config{Predictor: p, Images: data.Reader{Side: 32}, Name: "digits"})
	request := httptest.NewRequest("POST", "/v1/predict", strings.NewReader(strings.Repeat("x", 32*32*3)))
	request.Header.Set("Content-Type", "application/octet-stream") // pixels
	answer := httptest.NewRecorder()
	s.ServeHTTP(answer, request)
	fmt.Println(answer.Code, strings.HasPrefix(answer.Body.String(), `{"predictions":[{"label":`))
	// Output: 200 true
}
