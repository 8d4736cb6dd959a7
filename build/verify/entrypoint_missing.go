package verify

func entrypointMissing(*state) []Finding { return nil }
