// SPDX-License-Identifier: Apache-2.0

// Package clients names the Go client whose own tests are run on the server: `go test github.com/twmb/franz-go/pkg/kgo`.
package clients

import _ "github.com/twmb/franz-go/pkg/kgo"
