package record

import "fmt"

// Encryptions of links between hosts.
const (
	EncryptionTLS  = "tls"
	EncryptionNone = "none"
)

// LinkText words the links between workers from those that were asked for, the encryption of those between
// hosts and the streams of each by TCP: "shm", or "shm, TLS between hosts, 4 streams each".
func LinkText(link, encryption string, streams int) string {
	switch encryption { // else of one host, or not told
	case EncryptionTLS:
		link += ", TLS between hosts"
	case EncryptionNone:
		link += ", plain TCP between hosts"
	}
	if streams > 1 {
		link += fmt.Sprintf(", %d streams each", streams)
	}
	return link
}
