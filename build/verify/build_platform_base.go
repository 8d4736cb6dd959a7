package verify

func buildPlatformBase(*state) []Finding { return nil }
