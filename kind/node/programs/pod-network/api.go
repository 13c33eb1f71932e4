package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
)

const account = "/var/run/secrets/kubernetes.io/serviceaccount/"

// What is read of a Node.
type node struct {
	Metadata struct{ Name string }
	Spec     struct{ PodCIDR string }
	Status   struct {
		Addresses []struct{ Type, Address string }
	}
}

type nodeList struct {
	Metadata struct{ ResourceVersion string }
	Items    []node
}

type event struct {
	Type   string
	Object node
}

// The API server, asked as the pod's service account.
type api struct {
	client *http.Client
	url    string
}

func newAPI() (*api, error) {
	authority, err := os.ReadFile(account + "ca.crt")
	if err != nil {
		return nil, fmt.Errorf("failed to read the cluster's authority: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(authority) {
		return nil, fmt.Errorf("no certificate in %sca.crt", account)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	host := net.JoinHostPort(os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT"))
	return &api{client: &http.Client{Transport: transport}, url: "https://" + host + "/api/v1/nodes"}, nil
}

func (a *api) list() (list nodeList, err error) {
	body, err := a.get("")
	if err != nil {
		return list, fmt.Errorf("failed to list nodes: %w", err)
	}
	defer body.Close()
	return list, json.NewDecoder(body).Decode(&list)
}

// Calls on each event until the API server ends the watch, which is no error, or on fails.
func (a *api) watch(version string, on func(event) error) error {
	body, err := a.get("?watch=1&timeoutSeconds=300&resourceVersion=" + version)
	if err != nil {
		return fmt.Errorf("failed to watch nodes: %w", err)
	}
	defer body.Close()
	for events := json.NewDecoder(body); ; {
		var e event
		if err := events.Decode(&e); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("failed to watch nodes: %w", err)
		}
		if e.Type == "ERROR" {
			return errors.New("failed to watch nodes: the API server wants them listed anew")
		}
		if err := on(e); err != nil {
			return err
		}
	}
}

func (a *api) get(query string) (io.ReadCloser, error) {
	// Tokens are renewed in their file.
	token, err := os.ReadFile(account + "token")
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequest(http.MethodGet, a.url+query, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+string(token))
	response, err := a.client.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		response.Body.Close()
		return nil, errors.New(response.Status)
	}
	return response.Body, nil
}
