module k8s-cloud-tagger.test/e2e/tools/pause

go 1.26.0
