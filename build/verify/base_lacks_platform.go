package verify

func baseLacksPlatform(*state) []Finding { return nil }
