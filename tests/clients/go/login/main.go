// SPDX-License-Identifier: Apache-2.0

// Command login logs in to a listener with TLS and SASL by franz-go, and writes a record.
//
//	login BROKER CA TOPIC MECHANISM USER PASSWORD-OR-TOKEN
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/oauth"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

func mechanism(name, user, secret string) sasl.Mechanism {
	switch name {
	case "PLAIN":
		return plain.Auth{User: user, Pass: secret}.AsMechanism()
	case "SCRAM-SHA-256":
		return scram.Auth{User: user, Pass: secret}.AsSha256Mechanism()
	case "SCRAM-SHA-512":
		return scram.Auth{User: user, Pass: secret}.AsSha512Mechanism()
	default:
		return oauth.Auth{Token: secret}.AsMechanism()
	}
}

func main() {
	broker, authority, topic := os.Args[1], os.Args[2], os.Args[3]
	pem, err := os.ReadFile(authority)
	if err != nil {
		fmt.Println(err)
		os.Exit(2)
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(pem)
	client, err := kgo.NewClient(
		kgo.SeedBrokers(broker),
		kgo.DialTLSConfig(&tls.Config{RootCAs: trusted}),
		kgo.SASL(mechanism(os.Args[4], os.Args[5], os.Args[6])),
		kgo.AllowAutoTopicCreation(),
	)
	if err != nil {
		fmt.Println(err)
		os.Exit(2)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err = client.Ping(ctx); err == nil {
		err = client.ProduceSync(ctx, &kgo.Record{Topic: topic, Value: []byte("hello")}).FirstErr()
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}
