// Reads a JSON list of pod templates ({"name", "metadata", "spec"}) and prints one line for each rule of the restricted
// Pod Security profile that one of them breaks, by Kubernetes' own evaluator. Exits with 1 if there is any.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

type template struct {
	Name     string            `json:"name"`
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     corev1.PodSpec    `json:"spec"`
}

func main() {
	var templates []template
	if err := json.NewDecoder(os.Stdin).Decode(&templates); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	restricted := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	broken := false
	for _, pod := range templates {
		for _, result := range evaluator.EvaluatePod(restricted, &pod.Metadata, &pod.Spec) {
			if !result.Allowed {
				fmt.Printf("%s: %s: %s\n", pod.Name, result.ForbiddenReason, result.ForbiddenDetail)
				broken = true
			}
		}
	}
	if broken {
		os.Exit(1)
	}
}
