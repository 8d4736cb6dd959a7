package verify

import (
	"strings"
	"testing"
)

func TestEqualInstructionsHaveEqualSignatures(t *testing.T) {
	same := "FROM --platform=$BUILDPLATFORM golang AS b\nCOPY . .\nRUN make\nFROM scratch\nCOPY --from=b /x /x\n"
	for text, want := range map[string]bool{
		same: true,
		strings.Replace(same, "RUN", "ARG TARGETARCH\nRUN", 1):         false,
		strings.Replace(same, "--platform=$BUILDPLATFORM", "", 1):      false,
		strings.Replace(same, "COPY", "ARG TARGETARCH=x\nCOPY", 1):     true,
		strings.Replace(same, "RUN make", "RUN make\nARG TARGETOS", 1): true,
	} {
		_, s := check(t, "", file("Dockerfile", text))
		if got := sameEverywhere(newState(s, newBinaries(s)).steps()); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
