module github.com/archmage-go/archmage/tools/spdx

go 1.26.8

require github.com/anchore/syft v1.57.1
