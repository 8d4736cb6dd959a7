package verify

func singlePlatformDigest(*state) []Finding { return nil }
