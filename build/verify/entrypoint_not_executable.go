package verify

func entrypointNotExecutable(*state) []Finding { return nil }
