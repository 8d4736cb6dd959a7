package verify

func parentIgnoreFile(*state) []Finding { return nil }
