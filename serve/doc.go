// Package serve answers over HTTP what a trained network says of images, texts or rows.
//
//	POST /v1/predict     inputs in JSON, or an image, a text or rows in CSV as the body
//	GET  /healthz        200 while requests are accepted, then 503
//	GET  /metrics        counts and times in Prometheus's text format
//	GET  /openapi.json   the description of all this, and / the same for people
//
// [New] makes a [Server], an http.Handler over an infer.Predictor, which puts the inputs of requests that
// wait into one batch. [Server.Run] serves a listener until its context ends.
//
// Guarantees. Memory is bounded: by the length of a body and what has come of all, the inputs that wait or
// come in one request, the pixels of an image, the images that are decoded at a time. A request beyond a
// bound is refused at once with what is allowed; one that is slow to come keeps no other out. The deadline is
// that of a whole request: what its body takes to come is not left for its answer.
//
// When Run is to end, requests go on being answered for a while, with word that the connection ends, so that
// a balancer or a client turns to another server. Then the listener closes, and Run returns when every
// request that had begun to come, on a connection that the listener had accepted, is answered. What may be
// closed is a connection on which nothing has come for five seconds, or which was not accepted yet: its
// client has to connect again, as after any refusal.
//
// Errors are JSON: {"error": "..."}, with status 400 for a body that is wrong, 401 without the token, 408 for
// one that does not come in time, 413 for one that is too large, 415 for another type, 422 where the
// network's outputs are no numbers, 429 while too many inputs wait or bodies take all room, 503 when the
// server ends, 504 after the deadline. Run returns the listener's error.
package serve
