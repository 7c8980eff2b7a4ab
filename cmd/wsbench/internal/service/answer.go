package service

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// questions is the number of different requests.
const questions = 256

// answer returns the answer to a question: some computation and some allocation, of about ten microseconds.
func answer(question int) []byte {
	text := make([]byte, 4<<10)
	for i := range text {
		text[i] = byte(i * (question + 1))
	}
	sum := sha256.Sum256(text)
	body, err := json.Marshal(struct {
		Question int      `json:"question"`
		Answer   string   `json:"answer"`
		Notes    []string `json:"notes"`
	}{question, hex.EncodeToString(sum[:]), []string{"one", "two", "three"}})
	if err != nil {
		panic(err)
	}
	return body
}
