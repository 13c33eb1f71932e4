// The pod network of a node: writes the CNI configuration of the node's own pod range and keeps a route to the pod range
// of each other node.
package main

import (
	"log"
	"net/http"
	"os"
	"time"
)

// kube-proxy says here that it has programmed the Services of the cluster.
const proxyHealth = "http://127.0.0.1:10256/healthz"

func main() {
	name := os.Getenv("NODE_NAME")
	if name == "" {
		log.Fatal("NODE_NAME is not set")
	}
	// The API server is reached through its Service.
	for !proxied() {
		time.Sleep(200 * time.Millisecond)
	}
	api, err := newAPI()
	if err != nil {
		log.Fatal(err)
	}
	for {
		if err := follow(api, name); err != nil {
			log.Print(err)
		}
		time.Sleep(time.Second)
	}
}

func proxied() bool {
	response, err := (&http.Client{Timeout: time.Second}).Get(proxyHealth)
	if err != nil {
		return false
	}
	response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// Brings the node up to date, and again after each change of a node, until the API server ends the watch.
func follow(api *api, name string) error {
	list, err := api.list()
	if err != nil {
		return err
	}
	nodes := map[string]node{}
	for _, n := range list.Items {
		nodes[n.Metadata.Name] = n
	}
	if err := apply(nodes, name); err != nil {
		return err
	}
	return api.watch(list.Metadata.ResourceVersion, func(e event) error {
		if e.Type == "DELETED" {
			delete(nodes, e.Object.Metadata.Name)
			return unroute(e.Object)
		}
		nodes[e.Object.Metadata.Name] = e.Object
		return apply(nodes, name)
	})
}

func apply(nodes map[string]node, name string) error {
	for _, n := range nodes {
		if n.Spec.PodCIDR == "" {
			continue
		}
		step := route
		if n.Metadata.Name == name {
			step = configure
		}
		if err := step(n); err != nil {
			return err
		}
	}
	return nil
}
