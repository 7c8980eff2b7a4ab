module github.com/magpie-go/magpie/executor/cluster

go 1.26.0

replace github.com/magpie-go/magpie => ../..

require github.com/magpie-go/magpie v0.0.0
